-- A connection serves tenants of all sizes, and the plan that is best for one of a thousand memories reads all of them for
-- one of a million. To plan these anew takes a twentieth of a millisecond; and how they sort is not the caller's to say.
ALTER FUNCTION memory_matches SET plan_cache_mode = 'force_custom_plan';
ALTER FUNCTION memory_matches SET enable_sort = 'on';
ALTER FUNCTION memory_newest_matches SET plan_cache_mode = 'force_custom_plan';
ALTER FUNCTION memory_newest_matches SET enable_sort = 'off';
ALTER FUNCTION memory_match_count SET plan_cache_mode = 'force_custom_plan';
