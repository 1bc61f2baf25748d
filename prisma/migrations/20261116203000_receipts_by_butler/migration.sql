-- What was shown to a butler within a day: consolidation asks it for episodes and receipts that name no session.
CREATE INDEX context_receipts_by_butler ON context_receipts (tenant_id, butler, created_at);
