from __future__ import annotations

from functools import partial

from starlette.routing import BaseRoute

from tenantry.editor.authors import Right
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.requests import MAX_BODY_OF_TEXTS, EditorEndpoints, GroupBody
from tenantry.editor.runs.group_search import GroupsBody, search_groups, show_group
from tenantry.editor.runs.prepared_query import RunBody
from tenantry.editor.runs.query_runs import QueryRuns
from tenantry.editor.runs.samples import SampleBody, Samples


def run_routes(endpoints: EditorEndpoints, queries: QueryDrafts) -> list[BaseRoute]:
    workbench = endpoints.workbench
    runs, samples = QueryRuns(workbench, queries), Samples(workbench, queries)
    post, large = endpoints.post, MAX_BODY_OF_TEXTS
    return [
        post("/-/run", RunBody, runs.run, right=Right.RUN, max_bytes=large),
        post("/-/plan", RunBody, runs.plan, right=Right.RUN, max_bytes=large),
        post("/-/csv", RunBody, runs.csv, right=Right.RUN, max_bytes=large),
        post("/-/sample", SampleBody, samples.sample, right=Right.RUN, max_bytes=large),
        post("/-/groups", GroupsBody, partial(search_groups, workbench)),
        post("/-/group", GroupBody, partial(show_group, workbench)),
    ]
