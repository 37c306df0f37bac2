-- Once, as a superuser: psql --file roles.sql postgresql://postgres@db.internal/postgres
-- Then a password for each that logs in with one: \password tenantry_owner

create role tenantry_owner login;                       -- migrates, and owns the tables
create role tenantry_serve login connection limit 100;  -- `tenantry serve` and the command line
create role tenantry_app login connection limit 300;    -- your apps, which resolve tokens
create role tenantry_look login connection limit 5;     -- people and reports

create database tenantry owner tenantry_owner template template0 encoding 'UTF8';
revoke all on database tenantry from public;
grant connect on database tenantry to tenantry_serve, tenantry_app, tenantry_look;

\connect tenantry

revoke all on schema public from public;
grant all on schema public to tenantry_owner;
grant usage on schema public to tenantry_serve, tenantry_app, tenantry_look;

-- What the owner makes from now on, also in later versions, `serve` may use.
alter default privileges for role tenantry_owner in schema public
  grant select, insert, update, delete on tables to tenantry_serve;
alter default privileges for role tenantry_owner in schema public
  grant usage on sequences to tenantry_serve;

-- Sessions that keep the row of the generation locked would keep every write waiting.
alter role tenantry_serve set idle_in_transaction_session_timeout = '10s';
alter role tenantry_app set idle_in_transaction_session_timeout = '10s';
alter role tenantry_look set statement_timeout = '30s';
alter role tenantry_look set default_transaction_read_only = on;
