-- How likely the newer of two facts replaced the older, by the engine that asks. Null where nobody estimated it.
ALTER TABLE reviews
  ADD COLUMN likelihood double precision,
  ADD CONSTRAINT reviews_likelihood_check CHECK (likelihood BETWEEN 0 AND 1);
