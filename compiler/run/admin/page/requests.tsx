import { useRef, useState } from "preact/hooks";
import type { RequestsData, SeenRequest } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { amount, clock, count, duration, joined, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import {
  Card,
  Code,
  Empty,
  type Fact,
  Facts,
  Loading,
  PageHead,
  Pill,
  Problem,
  SearchField,
  Segmented,
  Text,
} from "./parts.tsx";

type Filter = "all" | "flight" | "rejected" | "failed";

const FILTERS: readonly (readonly [Filter, string])[] = [
  ["all", "All"],
  ["flight", "In flight"],
  ["rejected", "4xx"],
  ["failed", "5xx"],
];

/** Requests as they come, with what decided them. */
export function RequestsPage({ place, gateway }: PageProps) {
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState<Filter>("all");
  const [words, setWords] = useState(place.query.get("find") ?? "");
  const [chosen, setChosen] = useState<number>();
  const live = useData<RequestsData>("requests", isPaused ? 0 : 1000);
  const kept = useRef<RequestsData>(undefined);
  if (live.data !== undefined && !isPaused) kept.current = live.data;
  const data = kept.current ?? live.data;
  const found = (data?.requests ?? []).filter(
    (each) => passes(each, filter) && matches(each, words),
  );
  const opened = data?.requests.find(({ id }) => id === chosen);
  return (
    <>
      <PageHead
        title="Requests"
        about="The last 500, without queries, headers and bodies, which may contain credentials."
      >
        <button
          type="button"
          class={isPaused ? "button accent" : "button"}
          aria-pressed={isPaused}
          onClick={() => setPaused(!isPaused)}
        >
          <Icon name={isPaused ? "play" : "pause"} />
          {isPaused ? "Resume" : "Pause"}
        </button>
      </PageHead>
      <div class="filters">
        <SearchField
          label="Filter requests"
          placeholder="Path, route, caller, rule, tool, model …"
          value={words}
          onChange={setWords}
        />
        <Segmented label="Kind of requests" value={filter} options={FILTERS} onChange={setFilter} />
      </div>
      {live.problem !== undefined && <Problem>{live.problem}</Problem>}
      {data === undefined ? (
        <Loading />
      ) : (
        <div class={opened === undefined ? "with-detail" : "with-detail open"}>
          <Card
            class="flush"
            title={isPaused ? "Paused" : "Live"}
            note={`${count(found.length)} of ${amount(data.requests.length, "request")}`}
          >
            {found.length === 0 ? (
              <Empty
                icon="requests"
                title={data.requests.length === 0 ? "No requests yet" : "No request matches"}
              >
                {data.requests.length === 0
                  ? "They appear here as soon as a client sends one."
                  : "Change the filter to see others."}
              </Empty>
            ) : (
              <RequestTable requests={found} chosen={chosen} onChoose={setChosen} />
            )}
          </Card>
          {opened !== undefined && <Detail request={opened} onClose={() => setChosen(undefined)} />}
        </div>
      )}
      {gateway.counts.waitingCalls > 0 && (
        <p class="soft">
          {amount(gateway.counts.waitingCalls, "MCP call")} waiting for input of their clients.
        </p>
      )}
      {data !== undefined && data.sessions.length > 0 && <Sessions data={data} />}
    </>
  );
}

function passes({ status, duration: took }: SeenRequest, filter: Filter): boolean {
  if (filter === "flight") return took === null;
  if (filter === "rejected") return status !== null && status >= 400 && status < 500;
  return filter === "all" || (status !== null && status >= 500);
}

function matches(request: SeenRequest, words: string): boolean {
  const { method, path, host, route, caller, reason, upstream, status, notes, client } = request;
  const text = [
    method,
    path,
    host,
    route,
    caller,
    reason,
    upstream,
    status,
    client,
    ...notes.flat(),
  ]
    .join(" ")
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function RequestTable({
  requests,
  chosen,
  onChoose,
}: {
  requests: readonly SeenRequest[];
  chosen: number | undefined;
  onChoose: (id: number) => void;
}) {
  const [limit, setLimit] = useState(PAGE);
  const columns: readonly Column<SeenRequest>[] = [
    { title: "Time", class: "nowrap aside", cell: ({ at }) => clock(at) },
    {
      title: "Request",
      class: "wide",
      cell: (request) => (
        <>
          <button
            type="button"
            class="link request"
            aria-expanded={request.id === chosen}
            onClick={() => onChoose(request.id)}
          >
            <span class="method">{visible(request.method)}</span> <Text>{request.path}</Text>
          </button>
          <span class="sub soft">
            <Text>{subjectOf(request)}</Text>
          </span>
        </>
      ),
    },
    { title: "Route", class: "aside", cell: ({ route }) => <Text>{route ?? "none"}</Text> },
    { title: "Status", cell: (request) => <Status request={request} /> },
    {
      title: "Took",
      class: "number",
      cell: ({ duration: took }) => (took === null ? "…" : duration(took)),
    },
    { title: "Decided by", class: "why", cell: (request) => <Decision request={request} /> },
  ];
  return (
    <>
      <DataTable
        label="Requests"
        columns={columns}
        rows={requests.slice(0, limit)}
        keyOf={({ id }) => id}
        classOf={({ id }) => (id === chosen ? "chosen" : "")}
      />
      {requests.length > limit && (
        <p class="before">
          <button type="button" class="button" onClick={() => setLimit(limit + 4 * PAGE)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** Rows that are shown at first. */
const PAGE = 50;

/** Returns the caller, and the tool, model or method of MCP. */
function subjectOf({ notes, caller, client }: SeenRequest): string {
  const all = new Map(notes);
  const item =
    all.get("gen_ai.tool.name") ?? all.get("gen_ai.request.model") ?? all.get("mcp.method.name");
  return joined([caller ?? client, item]);
}

function Status({ request: { status, duration: took } }: { request: SeenRequest }) {
  if (took === null) return <Pill tone="accent">in flight</Pill>;
  if (status === null) return <Pill tone="warn">client left</Pill>;
  const tone = status >= 500 ? "bad" : status >= 400 ? "warn" : "good";
  return <Pill tone={tone}>{status}</Pill>;
}

function Decision({ request: { reason, upstream, notes } }: { request: SeenRequest }) {
  const all = new Map(notes);
  const why =
    all.get("rule") ??
    all.get("custom.policy") ??
    all.get("limit") ??
    all.get("error") ??
    undefined;
  return (
    <>
      {reason !== null && <strong>{reason}</strong>}
      {reason === null && upstream !== null && (
        <span class="soft">
          <Text>{upstream}</Text>
        </span>
      )}
      {why !== undefined && (
        <span class="sub">
          <Code>{why}</Code>
        </span>
      )}
    </>
  );
}

function Detail({ request, onClose }: { request: SeenRequest; onClose: () => void }) {
  const facts: readonly Fact[] = [
    ["Host", request.host],
    ["Listener", request.listener],
    ["Route", request.route],
    ["Caller", request.caller],
    ["Client", request.client],
    ["Responded by", request.reason === null ? request.upstream : `the gateway: ${request.reason}`],
    ["Began", clock(request.at)],
    ["Took", request.duration === null ? null : duration(request.duration)],
    ["Trace", request.traceId],
  ];
  return (
    <Card
      title="Request"
      class="detail"
      note={`number ${request.id}`}
      actions={
        <button type="button" class="icon-button" aria-label="Close the details" onClick={onClose}>
          <Icon name="close" />
        </button>
      }
    >
      <p class="detail-head">
        <Status request={request} /> <span class="method">{visible(request.method)}</span>{" "}
        <Code>{request.path}</Code>
      </p>
      <Facts facts={[...facts, ...request.notes]} />
    </Card>
  );
}

const SESSIONS: readonly Column<RequestsData["sessions"][number]>[] = [
  { title: "Session", cell: ({ name }) => <Code>{name}</Code> },
  { title: "Route", cell: ({ route }) => <Text>{route ?? ""}</Text> },
  { title: "Subject", cell: ({ subject }) => <Text>{subject ?? "anonymous"}</Text> },
  { title: "Client", cell: ({ client }) => <Code>{client}</Code> },
  { title: "Since", class: "nowrap", cell: ({ began }) => clock(began) },
  { title: "Last request", class: "nowrap", cell: ({ last }) => clock(last) },
  { title: "Requests", class: "number", cell: ({ requests }) => count(requests) },
];

function Sessions({ data }: { data: RequestsData }) {
  return (
    <Card title="MCP sessions" note="the one used last first" class="flush">
      <DataTable
        label="MCP sessions"
        columns={SESSIONS}
        rows={data.sessions}
        keyOf={({ name }) => name}
      />
    </Card>
  );
}
