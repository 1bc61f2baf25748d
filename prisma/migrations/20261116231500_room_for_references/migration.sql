-- A memory that is returned is updated in two columns that no index has. Where its page has room, the new version of the
-- row stays on it and no index is touched; without, each of them is, and to enter a vector into its index takes
-- milliseconds. A row is about two kilobytes, most of it the vector: a quarter of a page holds one more.
ALTER TABLE episodes SET (fillfactor = 75);
ALTER TABLE facts SET (fillfactor = 75);
ALTER TABLE rules SET (fillfactor = 75);
