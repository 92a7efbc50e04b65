import type { ComponentChildren } from "preact";
import type { TryData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { Loading, PageHead, Problem, Select } from "./parts.tsx";
import { goTo } from "./router.tsx";

interface RouteChoiceProps extends PageProps {
  readonly title: string;
  readonly about: string;
  /** Name of the page in addresses. */
  readonly page: string;
  /** Kind of the routes; absent for all. */
  readonly kind?: TryData["kind"];
  /** Whether a single route is named, too. */
  readonly showsOnly?: boolean;
  /** Shown if no route can be chosen. */
  readonly empty: ComponentChildren;
  readonly children: (route: TryData) => ComponentChildren;
}

/** A page about one of the routes that can be tried, which its address names. */
export function RouteChoice(props: RouteChoiceProps) {
  const { gateway, rest, title, about, page, kind, showsOnly, empty, children } = props;
  const { data, problem } = useData<{ readonly routes: readonly TryData[] }>(
    `playground?version=${gateway.generation}`,
  );
  const routes = (data?.routes ?? []).filter((each) => kind === undefined || each.kind === kind);
  const route = routes.find(({ id }) => id === rest) ?? routes[0];
  return (
    <>
      <PageHead title={title} about={about} />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading />
      ) : route === undefined ? (
        empty
      ) : (
        <>
          {(routes.length > 1 || showsOnly === true) && (
            <div class="filters">
              <Select
                isQuiet
                label="Route"
                value={route.id}
                options={routes.map(({ id, name, origin }) => [id, `${name} (${origin})`] as const)}
                onChange={(id) => goTo(`${page}/${encodeURIComponent(id)}`)}
              />
            </div>
          )}
          {children(route)}
        </>
      )}
    </>
  );
}
