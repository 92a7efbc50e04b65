import { shellWord } from "../../../backends/parts/try-request.ts";
import type { Html } from "../../../html/html.ts";
import { html } from "../../../html/html.ts";
import { placeText } from "../../explain/route.ts";
import type { ReviewedRoute, ReviewedRow } from "../access-review.ts";
import { executedText } from "../cell-decision.ts";
import type { CellChange } from "../earlier-access.ts";
import type { ReviewedResource } from "../resources.ts";
import type { CallerClass } from "../subjects.ts";
import type { Review } from "./review.ts";

/** Renders the table of all routes, and the matrix of each. */
export function accessSection({ access: { routes, decisions }, files, changes }: Review): Html {
  const outcomeOf = (cell: number) => decisions[cell]?.outcome ?? "no";
  return html`<section id="access" aria-labelledby="access-title">
<h2 id="access-title">Access</h2>
<p>Each row is a tool, path or model, and each column a class of callers that the rules distinguish. Credentials count as valid. The
callers of a column meet its conditions and no other condition of the rules. A cell links to the rule that decides it.${changes === undefined ? "" : CHANGED}</p>
<div class="scroll wide"><table class="overview">
<thead><tr><th scope="col">Route</th><th scope="col">Listener</th><th scope="col">Offers</th><th scope="col">Without credentials</th><th scope="col">Any valid credentials</th><th scope="col" class="figure">Classes</th><th scope="col">Defined at</th></tr></thead>
<tbody>${routes.map((route, index) => overviewRow(route, index, outcomeOf, placeText(route.origin, files)))}</tbody>
</table></div>
${routes.map((route, index) => matrix(route, index, outcomeOf, routes))}
</section>`;
}

const CHANGED =
  " Marked cells had another decision in the base, or were not offered there. Removed offers are in Changes.";

type OutcomeOf = (cell: number) => "yes" | "no" | "depends";

function overviewRow(route: ReviewedRoute, index: number, outcomeOf: OutcomeOf, at: string): Html {
  const { name, listeners, subjects, rows } = route;
  const isPlain = ({ when, unless }: CallerClass) => when.length + unless.length === 0;
  const anonymous = subjects.findIndex((each) => isPlain(each) && each.credentials.length === 0);
  const proved = subjects.findIndex((each) => isPlain(each) && each.credentials.length > 0);
  return html`<tr><th scope="row"><a href="#route-${index}">${name}</a></th><td>${listeners.join(", ")}</td><td>${offers(rows)}</td><td>${share(rows, anonymous, outcomeOf)}</td><td>${share(rows, proved, outcomeOf)}</td><td class="figure">${subjects.length}</td><td class="code">${at}</td></tr>
`;
}

/** Formats the number of resources of each kind: `12 tools, 1 prompt`. */
function offers(rows: readonly ReviewedRow[]): string {
  const kinds = Map.groupBy(rows, ({ resource: { kind } }) => kind);
  return Array.from(
    kinds,
    ([kind, { length }]) => `${length} ${kind}${length === 1 ? "" : "s"}`,
  ).join(", ");
}

/** Formats how many resources a class may use: `3 of 12, 1 depends`. */
function share(rows: readonly ReviewedRow[], column: number, outcomeOf: OutcomeOf): string {
  if (column < 0) return "-";
  const found = rows.map(({ cells }) => outcomeOf(cells[column] ?? -1));
  const count = (outcome: string) => found.filter((each) => each === outcome).length;
  const depends = count("depends");
  const all = `${count("yes")} of ${rows.length}`;
  return depends === 0 ? all : `${all}, ${depends} ${depends === 1 ? "depends" : "depend"}`;
}

function matrix(
  { gateway, name, listeners, subjects, rows, undecided }: ReviewedRoute,
  index: number,
  outcomeOf: OutcomeOf,
  routes: readonly ReviewedRoute[],
): Html {
  const isOne = routes.every((each) => each.gateway === gateway);
  const where = `${isOne ? "" : `gateway ${gateway}, `}listener ${listeners.join(", ")}`;
  const open =
    undecided.length === 0
      ? html``
      : html`<p><span class="tag depends">incomplete</span> The callers of these rules were not found, or only a part of them: <code>${undecided.join(", ")}</code></p>`;
  return html`<section class="matrix" id="route-${index}" aria-labelledby="route-${index}-title">
<h3 id="route-${index}-title">Route ${name} <small>${where}</small></h3>
${open}<div class="scroll"><table>
<thead><tr><th scope="col">${kindsOf(rows)}</th>${subjects.map(columnHead)}</tr></thead>
<tbody>${rows.map((row) => rowOf(row, name, outcomeOf))}</tbody>
</table></div>
</section>
`;
}

function kindsOf(rows: readonly ReviewedRow[]): string {
  const kinds = [...new Set(rows.map(({ resource: { kind } }) => kind))];
  const text = kinds.length === 0 ? "nothing" : kinds.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function columnHead(subject: CallerClass): Html {
  const { key, identities } = subject;
  const as = executedText({ request: {}, ...identities }).replace(/^GET \/ {0,2}/, "");
  const options = [
    ["--as", identities.jwt],
    ["--api-key", identities.apiKey],
  ].flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${shellWord(JSON.stringify(value))}`],
  );
  const user: unknown = Object(identities.basicAuth).username;
  const can = [...options, ...(typeof user === "string" ? [`--user ${shellWord(user)}`] : [])];
  return html`<th scope="col" data-key="${key}" data-who="${subjectLine(subject)}" data-as="${as}" data-can="${can.join(" ")}">${subjectText(subject)}</th>`;
}

/** Renders a class of callers: its credentials, and its conditions. */
function subjectText({ credentials, when, unless }: CallerClass): Html {
  const proofs = credentials.map((each) => PROOFS[each] ?? each);
  const who = proofs.length === 0 ? "no credentials" : proofs.join(" and ");
  const isAny = when.length + unless.length === 0 && proofs.length > 0;
  return html`<span class="who">${isAny ? "any valid " : ""}${who}</span>${when.map((each) => html` <code>${each}</code>`)}${unless.map((each) => html` not <code>${each}</code>`)}`;
}

/** Formats a class of callers as one line. */
export function subjectLine({ credentials, when, unless }: CallerClass): string {
  const proofs = credentials.map((each) => PROOFS[each] ?? each);
  const conditions = [...when, ...unless.map((each) => `not ${each}`)];
  const who = proofs.length === 0 ? "no credentials" : proofs.join(" and ");
  return conditions.length === 0
    ? `${proofs.length === 0 ? "" : "any valid "}${who}`
    : `${who}: ${conditions.join(", ")}`;
}

const PROOFS: Readonly<Record<string, string>> = {
  jwt: "token",
  apiKey: "API key",
  basicAuth: "user",
};

function rowOf(
  { resource, cells, changes }: ReviewedRow,
  route: string,
  outcomeOf: OutcomeOf,
): Html {
  const { kind, name, target } = resource;
  const server = target === undefined ? html`` : html` <small>${target}</small>`;
  return html`<tr data-request="${executedText(resource.data)}" data-can="${canText(resource, route)}"><th scope="row">${name.startsWith(`${kind} `) ? html`` : html`<small>${kind}</small> `}<code>${name}</code>${server}</th>${cells.map((cell, index) => cellOf(cell, outcomeOf(cell), changes?.[index]))}</tr>
`;
}

function cellOf(cell: number, outcome: string, change: CellChange | undefined): Html {
  if (change === undefined)
    return html`<td class="${outcome}"><a href="#rule-${cell}">${outcome}</a></td>`;
  const before = change.outcome === "absent" ? "new" : `was ${change.outcome}`;
  return html`<td class="${outcome} changed" data-was="${change.outcome}: ${change.reason}"><a href="#rule-${cell}">${outcome} <small>${before}</small></a></td>`;
}

/** Formats the arguments of `gwc can` that ask about an MCP item; empty for others, which need an address. */
function canText({ kind, target, data }: ReviewedResource, route: string): string {
  const verb = VERBS[kind];
  const item: unknown = Object(Object(data.mcp)[kind]).name;
  if (verb === undefined || typeof item !== "string") return "";
  const server = target === undefined ? "" : ` --target ${shellWord(target)}`;
  return `${verb} ${kind} ${shellWord(item)}${server} --route ${shellWord(route)}`;
}

const VERBS: Readonly<Record<string, string>> = { tool: "call", prompt: "get", resource: "read" };
