import { useState } from "preact/hooks";
import type {
  BackendData,
  ListenerData,
  RouteData,
  RoutesData,
  TryData,
} from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { amount, count, duration } from "./format.ts";
import { Icon } from "./icons.tsx";
import {
  Card,
  Code,
  Empty,
  Loading,
  PageHead,
  Pill,
  Problem,
  SearchField,
  Text,
} from "./parts.tsx";
import { Link } from "./router.tsx";

/** Ports with their listeners, routes, policies and backends. */
export function RoutesPage({ gateway }: PageProps) {
  const [words, setWords] = useState("");
  const { data, problem } = useData<RoutesData>("routes", 3000);
  const tried = useData<{ readonly routes: readonly TryData[] }>(
    `playground?version=${gateway.generation}`,
  );
  const canTry = new Set(tried.data?.routes.map(({ id }) => id));
  const all = [...(data?.listeners ?? []), ...(data?.connections ?? [])];
  const shown = all
    .map((listener) => ({
      ...listener,
      routes: listener.routes.filter((route) => isFound(route, words)),
    }))
    .filter(({ routes }) => routes.length > 0 || words === "");
  const routes = all.reduce((sum, listener) => sum + listener.routes.length, 0);
  return (
    <>
      <PageHead
        title="Routes"
        about={`${amount(routes, "route")} of ${amount(all.length, "listener")}. Requests are counted since the process started.`}
      />
      <div class="filters">
        <SearchField
          label="Filter routes"
          placeholder="Name, path, policy, backend …"
          value={words}
          onChange={setWords}
        />
      </div>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined && problem === undefined && <Loading />}
      {data !== undefined && shown.length === 0 && <Empty icon="routes" title="No route matches" />}
      {shown.map((listener) => (
        <Listener
          key={`${listener.port} ${listener.name} ${listener.host}`}
          listener={listener}
          canTry={canTry}
        />
      ))}
      {gateway.counts.unrouted > 0 && (
        <p class="soft">{amount(gateway.counts.unrouted, "request")} matched no route.</p>
      )}
    </>
  );
}

function isFound({ name, matches, policies, backends }: RouteData, words: string): boolean {
  const text = [
    name,
    ...matches,
    ...policies.map(({ text: policy }) => policy),
    ...backends.flatMap(({ label, address }) => [label, address]),
  ]
    .join(" ")
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Listener({ listener, canTry }: { listener: ListenerData; canTry: ReadonlySet<string> }) {
  const { name, port, scheme, host, place, policies, routes } = listener;
  return (
    <Card
      class="flush"
      title={
        <>
          <span class="port">:{port}</span> {scheme}, <Text>{host}</Text>
        </>
      }
      note={
        <>
          listener <Text>{name}</Text>, <Code>{place}</Code>
        </>
      }
    >
      {policies.length > 0 && (
        <p class="before">
          Before routing: <Chips policies={policies} />
        </p>
      )}
      <ul class="routes">
        {routes.map((route) => (
          <Route key={route.id} route={route} canTry={canTry.has(route.id)} />
        ))}
      </ul>
    </Card>
  );
}

function Route({ route, canTry }: { route: RouteData; canTry: boolean }) {
  const { id, name, place, code, matches, policies, backends } = route;
  return (
    <li class="route">
      <div class="route-name">
        <h3>
          <Link to={`code/${code}`}>
            <Text>{name}</Text>
          </Link>
        </h3>
        <span class="sub soft">
          <Code>{place}</Code>
        </span>
        {canTry && (
          <Link to={`try/${encodeURIComponent(id)}`} class="small-link" label={`Try ${name}`}>
            <Icon name="try" /> Try
          </Link>
        )}
      </div>
      <div class="route-match">
        {matches.map((match) => (
          <Code key={match}>{match}</Code>
        ))}
      </div>
      <div class="route-chain">
        {policies.length === 0 ? (
          <span class="soft">no policies</span>
        ) : (
          <Chips policies={policies} />
        )}
      </div>
      <div class="route-backends">
        {backends.length === 0 && <span class="soft">no backend</span>}
        {backends.map((backend, index) => (
          <Backend key={`${backend.label} ${backend.address} ${index}`} backend={backend} />
        ))}
      </div>
      <Figures route={route} />
    </li>
  );
}

function Chips({ policies }: { policies: RouteData["policies"] }) {
  return (
    <ol class="chips">
      {policies.map(({ text, place }) => (
        <li key={`${text} ${place}`} class="chip" title={place}>
          <Text>{text}</Text>
        </li>
      ))}
    </ol>
  );
}

function Backend({ backend: { label, address, share, state } }: { backend: BackendData }) {
  return (
    <div class="backend">
      {label !== null && <Text>{label}</Text>} {address !== null && <Code>{address}</Code>}{" "}
      {state !== null && (
        <Pill tone={state.isGood ? "good" : "bad"}>
          <Text>{state.text}</Text>
        </Pill>
      )}
      {share !== null && <span class="sub soft">{share}</span>}
    </div>
  );
}

function Figures({ route: { requests, errors, refused, p50, p99 } }: { route: RouteData }) {
  const rejected = refused.reduce((sum, each) => sum + each.requests, 0);
  return (
    <div class="route-counts">
      <dl class="route-figures">
        <div>
          <dt>requests</dt>
          <dd>{count(requests)}</dd>
        </div>
        <div>
          <dt>4xx</dt>
          <dd class={rejected === 0 ? "soft" : ""}>{count(rejected)}</dd>
        </div>
        <div>
          <dt>5xx</dt>
          <dd class={errors === 0 ? "soft" : "bad-text"}>{count(errors)}</dd>
        </div>
        <div>
          <dt>p50</dt>
          <dd>{duration(p50)}</dd>
        </div>
        <div>
          <dt>p99</dt>
          <dd>{duration(p99)}</dd>
        </div>
      </dl>
      {refused.length > 0 && (
        <ul class="causes soft">
          {refused.map(({ cause, requests: some }) => (
            <li key={cause}>
              {cause}: {count(some)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
