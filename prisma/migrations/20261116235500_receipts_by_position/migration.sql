-- The lists of a receipt have their values by position, as src/retrieval/receipt-form.ts says: names were most of a row
-- that is written with every answer. What is left is not compressed either: that took longer than to write it.
ALTER TABLE context_receipts
  ALTER COLUMN candidates SET STORAGE EXTERNAL,
  ALTER COLUMN chosen SET STORAGE EXTERNAL,
  ALTER COLUMN dropped SET STORAGE EXTERNAL;

-- Whatever a candidate did not say was usual, and its list says it. A choice is now found by its place in memory_ids.
UPDATE context_receipts SET
  candidates = (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
      left(item->>'type', 1), item->'id', item->'score', item->'relevance',
      CASE WHEN jsonb_typeof(composite) = 'object' THEN jsonb_build_array(
        coalesce(composite->'importance', '0.5'), coalesce(composite->'recency', '1'),
        coalesce(composite->'confidence', '1'), coalesce(composite->'maturityWeight', '1')) END,
      CASE WHEN jsonb_typeof(parts) = 'object' THEN jsonb_build_array(
        parts->'similarity', parts->'semanticRank', coalesce(parts->'keywordScore', '0'), parts->'keywordRank',
        parts->'sessionSimilarity', coalesce(parts->'asks', 'false'), coalesce(parts->'lentScore', '0'),
        parts->'lentSimilarity', parts->'rerankScore') END
    ) ORDER BY place), '[]')
    FROM jsonb_array_elements(candidates) WITH ORDINALITY AS items (item, place)
      CROSS JOIN LATERAL (SELECT item->'composite', item->'parts') AS scores (composite, parts)),
  chosen = (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
      left(item->>'type', 1), item->'version', item->'score', item->'tokens', item->'lineDigest') ORDER BY place), '[]')
    FROM jsonb_array_elements(chosen) WITH ORDINALITY AS items (item, place)),
  dropped = (
    SELECT coalesce(jsonb_agg(
      CASE WHEN item ? 'id' THEN jsonb_build_array(item->'stage', item->'reason', item->'id')
        ELSE jsonb_build_array(item->'stage', item->'count') END ORDER BY place), '[]')
    FROM jsonb_array_elements(dropped) WITH ORDINALITY AS items (item, place)),
  memory_ids = CASE WHEN chosen = '[]' THEN memory_ids ELSE ARRAY(
    SELECT (item->>'id')::uuid FROM jsonb_array_elements(chosen) WITH ORDINALITY AS items (item, place) ORDER BY place) END
WHERE candidates <> '[]' OR chosen <> '[]' OR dropped <> '[]';
