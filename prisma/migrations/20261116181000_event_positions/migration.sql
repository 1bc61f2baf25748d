-- The order of the feed: readers go on from a position and stop at the oldest open transaction.
CREATE INDEX memory_events_by_position ON memory_events (tenant_id, transaction_id, sequence);
