-- The past moment that a recall or search asked about; null for the present. Without it a receipt tells what was shown, but
-- not why it was chosen, and replays its confidence as of the wrong day.
ALTER TABLE context_receipts ADD COLUMN as_of timestamptz(3);
