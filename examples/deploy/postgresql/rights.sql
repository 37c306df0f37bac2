-- After each `tenantry migrate`: psql --file rights.sql postgresql://tenantry_owner@db.internal/tenantry
-- Safe to run again.

-- An app that resolves tokens and runs queries reads these, and nothing else.
grant select on alembic_version, changes, data_sources, environments, generation, single_use_codes, user_groups
  to tenantry_app;
-- It notes how long it uses its cache, and another run folder where somebody took the first.
grant update (run_name, longest_lease) on generation to tenantry_app;
-- It makes and uses up codes for downloads and embedding; update is for the locks, no row is altered.
grant insert, update, delete on single_use_codes to tenantry_app;
-- It adds what each group has used.
grant select, insert, update on usage_by_hour, usage_by_viewer to tenantry_app;
grant select, insert, update, delete on usage_writers to tenantry_app;

-- People see who did what, which groups there are and what they used: no part of a token, no URL of a data source.
grant select on audit, environments, usage_by_hour to tenantry_look;
grant select (team_id, environment_id, provided_id, name, properties, mapping, revision, created_at, updated_at, expires_at)
  on user_groups to tenantry_look;
