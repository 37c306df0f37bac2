// What a program does with the types of openapi-typescript and the client openapi-fetch. Prints what each step came to.

import createClient from "openapi-fetch";
import type { components, paths } from "./made";

declare const process: { env: Record<string, string> };
declare const console: { log(text: string): void };

const GROUP = process.env.GROUP_ID ?? "acme";
const GIVEN = {
  region: "Île-de-France 東京",
  seats: { bought: [1, 2.5, null, { until: null }], free: true, until: null },
  "2": { "3": { "4": { "5": { "6": { "7": { "8": null } } } } } },
};
const steps: Record<string, string> = {};

function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

const headers = { Authorization: `Token ${process.env.API_TOKEN}` };
const client = createClient<paths>({ baseUrl: process.env.BASE_URL, headers });
const later = createClient<paths>({ baseUrl: process.env.LATER_URL, headers });

async function main(): Promise<void> {
  // GET: fetch sends no body with it
  try {
    await client.GET("/api/user", { body: { user_group_id: "by-get" } });
    steps.GET = "ok";
  } catch (error) {
    check(error instanceof TypeError, String(error));
    steps.GET = "fetch refuses the body";
  }

  // POST makes the group, and says so
  const made = await client.POST("/api/user", {
    body: { user_group_id: GROUP, name: "Acme Ltd", properties: GIVEN },
  });
  check(made.data !== undefined, JSON.stringify(made.error));
  check(made.data.new_user_group === true, "new_user_group");
  const tag: components["schemas"]["EnvironmentTag"] = made.data.user_group.api_environment_tag;
  check(tag === "Customer", "tag");
  check(JSON.stringify(made.data.user_group.properties) === JSON.stringify(GIVEN), "properties");
  steps.POST = "ok";

  // PUT changes it
  const changed = await client.PUT("/api/user", { body: { user_group_id: GROUP, properties: { region: "us" } } });
  check(changed.data?.user_group.properties?.region === "us", "PUT");
  const cleared = await client.PUT("/api/user", { body: { user_group_id: GROUP, properties: null } });
  check(cleared.data?.user_group.properties === null, "clear");
  steps.PUT = "ok";

  // PATCH gives it an end date, and takes it away
  const merged = await client.PATCH("/api/user", { body: { user_group_id: GROUP, expires_at: "2099-01-31T23:59:59Z" } });
  const ends: string | null | undefined = merged.data?.user_group.expires_at;
  check(typeof ends === "string" && Date.parse(ends) === Date.UTC(2099, 0, 31, 23, 59, 59), "end date");
  const endless = await client.PATCH("/api/user", { body: { user_group_id: GROUP, expires_at: null } });
  check(endless.data?.user_group.expires_at === null, "no end date");
  steps.PATCH = "ok";

  // a rotation, at its own address and at the other
  const token: string = made.data.user_group.token;
  const rotation = { params: { header: { "Idempotency-Key": `once-${GROUP}` } }, body: { current_token: token } };
  const rotated = await client.POST("/api/user/rotate", rotation);
  check(rotated.data !== undefined && rotated.data.user_group.token !== token, "rotate");
  const again = await client.POST("/api/user/rotate", rotation);
  check(again.data?.user_group.token === rotated.data.user_group.token, "replay");
  check(again.response.headers.get("idempotency-replayed") === "true", "replayed");
  const byPost = await client.POST("/api/user", { body: { current_token: rotated.data.user_group.token } });
  check(byPost.data !== undefined && byPost.data.new_user_group === undefined, "rotation by POST");
  check(byPost.data.user_group.properties === undefined, "properties of a rotation");
  steps.rotate = "ok";

  // introspection of a live token and of a dead one
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const live = await client.POST("/oauth/introspect", { body: { token: byPost.data.user_group.token }, headers: form });
  check(live.data?.active === true && live.data.sub === GROUP, JSON.stringify(live.error));
  const provided: string | undefined = live.data.user_group?.provided_id;
  check(provided === GROUP, "user_group");
  check(live.data.exp === undefined, "exp");
  const ending = await client.POST("/oauth/introspect", { body: { token: rotated.data.user_group.token }, headers: form });
  const until: string | null | undefined = ending.data?.user_group?.grace_until;
  check(typeof until === "string" && ending.data?.exp === Math.floor(Date.parse(until) / 1000), "grace");
  const dead = await client.POST("/oauth/introspect", { body: { token }, headers: form });
  check(dead.data?.active === false && dead.data.user_group === undefined, "dead");
  steps.introspect = "ok";

  // an error, and one with a code of a later version
  const unknown = await client.PUT("/api/user", { body: { user_group_id: "nobody" } });
  check(unknown.error?.error.code === "unknown_group" && unknown.response.status === 404, "unknown group");
  const strange = await later.PUT("/api/user", { body: { user_group_id: GROUP } });
  check(strange.error?.error.code === "a_code_of_later" && strange.response.status === 422, "later");
  const busy = await later.PUT("/api/user", { body: { user_group_id: "busy" } });
  check(busy.error?.error.code === "a_code_of_later" && busy.response.headers.get("Retry-After") === "7", "busy");
  const late = await client.POST("/api/user/rotate", { body: { current_token: token } });
  check(late.error?.error.code === "token_already_rotated" && late.response.status === 409, "late");
  steps.errors = "ok";

  // the list has the group, until it is deleted
  const asked = { params: { query: { user_group_id: GROUP, limit: 10 } } };
  const listed = await client.GET("/api/users", asked);
  const names: string[] | undefined = listed.data?.user_groups.map((group) => group.name);
  check(JSON.stringify(names) === '["Acme Ltd"]', JSON.stringify(listed.error));
  const next: number | null | undefined = listed.data?.next;
  check(next === null, "next");
  steps.list = "ok";
  const own = { params: { query: { user_group_id: GROUP } } };
  const deleted = await client.DELETE("/api/user", own);
  check(deleted.data?.user_group.provided_id === GROUP, JSON.stringify(deleted.error));
  check((await client.GET("/api/users", asked)).data?.user_groups.length === 0, "deleted");
  const gone = await client.DELETE("/api/user", own);
  check(gone.error?.error.code === "unknown_group" && gone.response.status === 404, "gone");
  steps.DELETE = "ok";

  console.log(JSON.stringify(steps));
}

void main();
