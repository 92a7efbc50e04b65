import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { printable } from "../../../diagnostics/report/display-width.ts";
import { totals } from "../../../diagnostics/report/findings.ts";
import { type Html, html, trustedHtml } from "../../../html/html.ts";
import { reviewAssets } from "../../../installation.ts";
import { diffVerdict } from "../../diff/report/diff-report.ts";
import { testTotals } from "../../tests/report/coverage-text.ts";
import { accessSection, subjectLine } from "./matrix.ts";
import type { Review } from "./review.ts";
import { rulesSection } from "./rules.ts";
import { changesSection, findingsSection, graphSection, testsSection } from "./sections.ts";

/**
 * Renders a review as one HTML file. Its content policy allows only its own style sheet and script, and nothing that is
 * loaded or sent.
 */
export function reviewPage(review: Review): string {
  const style = asset("review.css");
  const script = asset("review.js");
  const policy = [
    "default-src 'none'",
    `style-src '${digest(style)}'`,
    `script-src '${digest(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const title = `Access review of ${review.inputs.join(", ")}`;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${trustedHtml(style)}</style>
</head>
<body>
<header><h1>${title}</h1>${provenance(review)}${summary(review)}${NAVIGATION}</header>
${filters(review)}
<main>
${changesSection(review)}
${findingsSection(review)}
${accessSection(review)}
${rulesSection(review)}
${testsSection(review)}
${graphSection(review)}
</main>
${DIALOG}
<script>${trustedHtml(script)}</script>
</body>
</html>
`;
  // Characters that reorder a line could show a reviewer another rule than the one that decides.
  return text.split("\n").map(printable).join("\n");
}

function provenance({ made: { at, version }, changes }: Review): Html {
  const base = changes === undefined ? "" : `, compared with ${changes.base}`;
  return html`<p class="soft">Made on ${at} by gwc ${version}${base}.</p>`;
}

function summary({ access, changes, findings, accepted, tests }: Review): Html {
  const cells = access.routes.flatMap(({ rows }) => rows.flatMap((row) => row.cells));
  const count = (outcome: string) =>
    cells.filter((cell) => access.decisions[cell]?.outcome === outcome).length;
  const changed = access.routes
    .flatMap(({ rows }) => rows.flatMap((row) => row.changes ?? []))
    .filter((change) => change !== undefined).length;
  const failed = tests?.verdicts.filter(({ diagnostics }) => diagnostics.length > 0).length ?? 0;
  const passed = (tests?.verdicts.length ?? 0) - failed;
  const left = (tests?.mistakes.length ?? 0) === 0 ? "" : ", some not run because of mistakes";
  const known = accepted.length === 0 ? "" : `, ${accepted.length} accepted`;
  return html`<ul class="cards">
<li><b>Changes</b>${changes === undefined ? "no base given" : `${diffVerdict(changes.diff)}; ${changed} changed ${changed === 1 ? "cell" : "cells"}`}</li>
<li><b>Findings</b>${findings.length === 0 ? "nothing found" : totals(findings)}${known}</li>
<li><b>Access</b>${access.routes.length} ${access.routes.length === 1 ? "route" : "routes"}; ${count("yes")} cells yes, ${count("no")} no, ${count("depends")} depend</li>
<li><b>Tests</b>${tests === undefined ? "none" : `${passed} passed, ${failed} failed${left}; covered: ${testTotals(tests.coverage)}`}</li>
</ul>`;
}

const NAVIGATION = html`<nav aria-label="Sections"><a href="#changes">Changes</a><a href="#findings">Findings</a><a href="#access">Access</a><a href="#rules">Deciding rules</a><a href="#tests">Tests</a><a href="#graph">Graph</a></nav>`;

/** The filters work with the script only, which shows them. */
function filters({ access: { routes }, changes }: Review): Html {
  const subjects = new Map(
    routes.flatMap((route) => route.subjects.map((each) => [each.key, subjectLine(each)] as const)),
  );
  const options = Array.from(subjects)
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
    .map(([key, text]) => html`<option value="${key}">${text}</option>`);
  return html`<div class="tools"><form id="filters" role="search" hidden>
<input id="search" type="search" aria-label="Filter by route, tool, path, model, rule or finding" placeholder="Filter ( / )" autocomplete="off" spellcheck="false">
<select id="subject" aria-label="Callers"><option value="">all callers</option>${options}</select>
<select id="outcome" aria-label="Outcome"><option value="">all outcomes</option><option>yes</option><option>no</option><option>depends</option></select>
${changes === undefined ? html`` : html`<label><input id="changed" type="checkbox"> changed only</label>`}
<output id="count" for="search subject outcome" class="soft"></output>
</form></div>`;
}

const DIALOG = html`<dialog id="cell" aria-labelledby="cell-title"><h2 id="cell-title"></h2><dl id="cell-list"></dl><form class="end" method="dialog"><a id="cell-rule" href="#rules">Show the rule</a> <button>Close</button></form></dialog>`;

function asset(name: string): string {
  return readFileSync(path.join(reviewAssets, name), "utf8");
}

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
