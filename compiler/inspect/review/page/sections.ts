import type { Finding } from "../../../diagnostics/report/findings.ts";
import { locationText } from "../../../diagnostics/source.ts";
import { type Html, html, trustedHtml } from "../../../html/html.ts";
import { DIRECTION_LABEL, differenceDetails, diffVerdict } from "../../diff/report/diff-report.ts";
import { placeText } from "../../explain/route.ts";
import { svgText } from "../../graph/svg.ts";
import { testTotals } from "../../tests/report/coverage-text.ts";
import type { Review } from "./review.ts";

/** Renders what changed since the base. */
export function changesSection({ changes }: Review): Html {
  if (changes === undefined)
    return html`<section id="changes"><h2>Changes</h2><p>No base was given. <code>gwc review --base main</code> shows what changed since a revision.</p></section>`;
  const { base, diff, files } = changes;
  const entries = diff.differences.map((each) => {
    const details = differenceDetails(each, files).map(
      ([name, text]) => html`<dt>${name}</dt><dd class="code">${text}</dd>`,
    );
    return html`<li class="entry"><p><span class="tag ${each.direction}">${DIRECTION_LABEL[each.direction]}</span> ${each.subject}: <b>${each.change}</b></p><dl>${details}</dl></li>
`;
  });
  const undecided = diff.undecided.map(
    (text) =>
      html`<li class="entry"><p><span class="tag depends">UNDECIDED</span> <code>${text}</code></p></li>`,
  );
  return html`<section id="changes" aria-labelledby="changes-title">
<h2 id="changes-title">Changes <small>since ${base}</small></h2>
<p>${diffVerdict(diff)}</p>
<ul class="entries">${entries}${undecided}</ul>
</section>`;
}

/** Renders the findings of the audit: those that are open, then those that were accepted. */
export function findingsSection({ findings, accepted }: Review): Html {
  const verdict =
    findings.length === 0 ? html`<p>The audit found nothing that is not accepted.</p>` : html``;
  return html`<section id="findings" aria-labelledby="findings-title">
<h2 id="findings-title">Findings</h2>
${verdict}<ul class="entries">${findings.map((each) => findingEntry(each, undefined))}${accepted.map(({ finding, reason }) => findingEntry(finding, reason))}</ul>
</section>`;
}

function findingEntry(
  { code, severity, message, hint, location }: Finding,
  reason: string | undefined,
): Html {
  const advice = hint === undefined ? html`` : html`<dt>hint</dt><dd>${hint}</dd>`;
  const accepted = reason === undefined ? html`` : html`<dt>accepted</dt><dd>${reason}</dd>`;
  return html`<li class="entry"><p><span class="tag ${reason === undefined ? severity : ""}">${reason === undefined ? severity : "accepted"}</span> ${message}</p><dl><dt>at</dt><dd class="code">${locationText(location)}</dd>${advice}${accepted}<dt>code</dt><dd class="code">${code}</dd></dl></li>
`;
}

/** Renders the results of the tests, and the parts of the configuration that they do not reach. */
export function testsSection({ tests }: Review): Html {
  if (tests === undefined)
    return html`<section id="tests"><h2>Tests</h2><p>There is no <code>*.test.yaml</code> next to the configuration. <code>gwc explain test</code> has an example.</p></section>`;
  const { verdicts, mistakes, coverage, files } = tests;
  const results = verdicts.map(({ name, origin, diagnostics }) => {
    const isPassed = diagnostics.length === 0;
    return html`<li class="entry"><p><span class="tag ${isPassed ? "yes" : "failed"}">${isPassed ? "passed" : "failed"}</span> ${name}</p><dl><dt>at</dt><dd class="code">${placeText(origin, files)}</dd></dl></li>
`;
  });
  const missing = coverage
    .filter(({ isCovered }) => !isCovered)
    .map(
      ({ kind, name, origin }) =>
        html`<li class="entry"><p><span class="tag depends">not covered</span> ${kind} <code>${name}</code></p><dl><dt>at</dt><dd class="code">${placeText(origin, files)}</dd></dl></li>
`,
    );
  const broken =
    mistakes.length === 0
      ? html``
      : html`<p><span class="tag failed">incomplete</span> Some tests have mistakes and were not run: see <code>gwc test</code>.</p>`;
  return html`<section id="tests" aria-labelledby="tests-title">
<h2 id="tests-title">Tests <small>covered: ${testTotals(coverage)}</small></h2>
${broken}<ul class="entries">${results}${missing}</ul>
</section>`;
}

/** Renders the graph of each gateway. */
export function graphSection({ graphs, changes }: Review): Html {
  const marks =
    changes === undefined
      ? html``
      : html`<p>Additions are green, removals red and changed settings yellow.</p>`;
  const pictures = graphs.map(
    ({ gateway, graph }) =>
      html`<details open><summary>${gateway}</summary><div class="scroll wide picture" role="img" aria-label="Listeners, routes and servers of ${gateway}" tabindex="0">${trustedHtml(svgText(graph))}</div></details>`,
  );
  return html`<section id="graph" aria-labelledby="graph-title">
<h2 id="graph-title">Graph</h2>
${marks}${pictures}
</section>`;
}
