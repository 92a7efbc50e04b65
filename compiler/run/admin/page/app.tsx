import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { GatewayData } from "../api/admin-api.ts";
import { AccessPage } from "./access.tsx";
import { ChangesPage } from "./changes.tsx";
import { ChatPage } from "./chat.tsx";
import { ChecksPage } from "./checks.tsx";
import { CodePage } from "./code.tsx";
import { postJson, useData } from "./data.ts";
import { amount, visible } from "./format.ts";
import { GraphPage } from "./graph.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { KeysPage } from "./keys.tsx";
import { OverviewPage } from "./overview.tsx";
import { Loading, Pill, Problem } from "./parts.tsx";
import { RequestsPage } from "./requests.tsx";
import { goTo, Link, type Place, usePlace } from "./router.tsx";
import { RoutesPage } from "./routes.tsx";
import { chooseTheme, chosenTheme, type Theme } from "./theme.ts";
import { ToolsPage } from "./tools.tsx";
import { TryPage } from "./try-http.tsx";
import { UsagePage } from "./usage.tsx";

/** What every page gets. */
export interface PageProps {
  readonly gateway: GatewayData;
  readonly place: Place;
  /** The rest of the path. */
  readonly rest: string;
}

interface Entry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly page: ComponentType<PageProps>;
}

const SECTIONS: readonly { readonly title: string; readonly entries: readonly Entry[] }[] = [
  {
    title: "Now",
    entries: [
      { path: "", title: "Overview", icon: "overview", page: OverviewPage },
      { path: "requests", title: "Requests", icon: "requests", page: RequestsPage },
    ],
  },
  {
    title: "Configuration",
    entries: [
      { path: "routes", title: "Routes", icon: "routes", page: RoutesPage },
      { path: "graph", title: "Graph", icon: "graph", page: GraphPage },
      { path: "access", title: "Access", icon: "access", page: AccessPage },
      { path: "checks", title: "Guards and policies", icon: "checks", page: ChecksPage },
      { path: "changes", title: "Changes", icon: "changes", page: ChangesPage },
      { path: "code", title: "Generated code", icon: "code", page: CodePage },
    ],
  },
  {
    title: "Try",
    entries: [
      { path: "try", title: "Requests to routes", icon: "try", page: TryPage },
      { path: "tools", title: "MCP tools", icon: "tools", page: ToolsPage },
      { path: "chat", title: "Models", icon: "chat", page: ChatPage },
    ],
  },
  {
    title: "Teams",
    entries: [
      { path: "usage", title: "Usage", icon: "usage", page: UsagePage },
      { path: "keys", title: "API keys", icon: "keys", page: KeysPage },
    ],
  },
];

const ENTRIES = SECTIONS.flatMap(({ entries }) => entries);

/** The page: navigation at the side, the state of the gateway at the top, and the chosen part. */
export function App() {
  const place = usePlace();
  const { data: gateway, problem } = useData<GatewayData>("gateway", 3000);
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const [head = "", ...rest] = place.path.split("/");
  const entry = ENTRIES.find(({ path }) => path === head);
  useEffect(() => {
    document.title = `${entry?.title ?? "Not found"} – ${gateway?.name ?? "gwc"}`;
  }, [entry, gateway?.name]);
  useShortcuts(() => setOpen(false));
  const isFirst = useRef(true);
  useEffect(() => {
    // Screen readers go on where the new part begins.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [head]);
  const Part = entry?.page;
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="topbar">
        <button
          type="button"
          class="icon-button menu-button"
          aria-expanded={isOpen}
          aria-controls="sidebar"
          aria-label={isOpen ? "Close the menu" : "Open the menu"}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "close" : "menu"} />
        </button>
        <Brand gateway={gateway} />
        <State gateway={gateway} problem={problem} />
      </header>
      <nav id="sidebar" class={isOpen ? "sidebar open" : "sidebar"} aria-label="Parts of the page">
        <Brand gateway={gateway} />
        {SECTIONS.map(({ title, entries }) => (
          <div key={title} class="nav-group">
            <h2>{title}</h2>
            <ul>
              {entries.map(({ path, title: text, icon }) => (
                <li key={path}>
                  <Link to={path} isCurrent={path === head} onFollow={() => setOpen(false)}>
                    <Icon name={icon} />
                    {text}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <div class="nav-foot">
          {gateway?.links.map(({ label, url }) => (
            <a key={label} href={url} target="_blank" rel="noreferrer">
              <Icon name="external" />
              {label}
            </a>
          ))}
          {gateway?.has.login === true && (
            <button type="button" class="button" onClick={() => void logOut()}>
              Log out
            </button>
          )}
          <ThemeChoice />
        </div>
      </nav>
      {/* A click beside the menu closes it; the button does so for keyboards. */}
      {isOpen && <div class="veil" onClick={() => setOpen(false)} aria-hidden="true" />}
      <main id="main" ref={main} tabIndex={-1}>
        {problem !== undefined && (
          <Problem>{`${problem[0]?.toUpperCase()}${problem.slice(1)}. What you see may be old.`}</Problem>
        )}
        {gateway === undefined ? (
          problem === undefined && <Loading />
        ) : Part === undefined ? (
          <NotFound />
        ) : (
          <>
            <LastChange gateway={gateway} isShort={head !== ""} />
            <Part gateway={gateway} place={place} rest={rest.join("/")} />
          </>
        )}
      </main>
    </div>
  );
}

async function logOut(): Promise<void> {
  await postJson("logout", {}).catch(() => {});
  location.reload();
}

function Brand({ gateway }: { gateway: GatewayData | undefined }) {
  return (
    <Link to="" class="brand">
      <img src="/ui/assets/icon.svg" alt="" width="28" height="28" />
      <span>
        <strong>{visible(gateway?.name ?? "gwc")}</strong>
        <small>{visible(gateway?.file ?? "")}</small>
      </span>
    </Link>
  );
}

function State({
  gateway,
  problem,
}: {
  gateway: GatewayData | undefined;
  problem: string | undefined;
}) {
  if (problem !== undefined) return <Pill tone="bad">not reachable</Pill>;
  if (gateway === undefined) return null;
  return gateway.change.problem === null ? (
    <Pill tone="good">serving</Pill>
  ) : (
    <Pill tone="bad">last edit not served</Pill>
  );
}

/** A change that is not served concerns every part; warnings only the overview. */
function LastChange({ gateway, isShort }: { gateway: GatewayData; isShort: boolean }) {
  const { problem, findings } = gateway.change;
  if (problem === null) return null;
  const errors = findings.filter(({ severity }) => severity === "error");
  return (
    <div class="banner" role="alert">
      <Icon name="alert" />
      <div>
        <strong>The last edit was not applied.</strong> The gateway still serves version{" "}
        {gateway.generation}:{" "}
        {findings.length === 0 ? visible(problem) : amount(errors.length, "error")}
        {isShort ? ". " : "."}
        {isShort && <Link to="">See the mistakes</Link>}
      </div>
    </div>
  );
}

function NotFound() {
  return (
    <div class="empty">
      <p class="empty-title">There is no such page.</p>
      <p>
        <Link to="">Overview</Link>
      </p>
    </div>
  );
}

const THEMES: readonly (readonly [Theme, IconName, string])[] = [
  ["system", "system", "Colors of the system"],
  ["light", "light", "Light colors"],
  ["dark", "dark", "Dark colors"],
];

function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <fieldset class="segmented themes">
      <legend class="hidden">Colors</legend>
      {THEMES.map(([each, icon, label]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === theme}
          aria-label={label}
          title={label}
          onClick={() => {
            chooseTheme(each);
            setTheme(each);
          }}
        >
          <Icon name={icon} />
        </button>
      ))}
    </fieldset>
  );
}

/** `g` and a letter go to a part, `/` to the filter, Escape closes the menu. */
function useShortcuts(closeMenu: () => void): void {
  useEffect(() => {
    let isWaiting = false;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") closeMenu();
      const isTyping =
        event.target instanceof Element &&
        event.target.closest("input, textarea, select, [contenteditable]") !== null;
      if (isTyping) return;
      if (event.key === "/") {
        const filter = document.querySelector<HTMLElement>("input[type=search]");
        if (filter === null) return;
        event.preventDefault();
        filter.focus();
        return;
      }
      if (isWaiting) {
        isWaiting = false;
        const target = LETTERS[event.key];
        if (target !== undefined) goTo(target);
      } else isWaiting = event.key === "g";
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [closeMenu]);
}

const LETTERS: Readonly<Record<string, string>> = {
  o: "",
  q: "requests",
  r: "routes",
  g: "graph",
  a: "access",
  c: "changes",
  t: "tools",
  m: "chat",
  u: "usage",
  k: "keys",
};
