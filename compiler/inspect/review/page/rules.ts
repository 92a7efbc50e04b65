import { placeKey } from "../../../diagnostics/diagnostic.ts";
import { type Html, html } from "../../../html/html.ts";
import { placeText } from "../../explain/route.ts";
import type { CellDecision } from "../cell-decision.ts";
import type { Review } from "./review.ts";

/** Renders the decisions that cells link to, each with its location and executed requests. */
export function rulesSection({ access: { routes, decisions }, files, tests }: Review): Html {
  const uses = new Map<number, number>();
  for (const { rows } of routes)
    for (const { cells } of rows)
      for (const cell of cells) uses.set(cell, (uses.get(cell) ?? 0) + 1);
  const tested = new Map(
    (tests?.coverage ?? []).map((part) => [placeKey(part.origin), part.isCovered]),
  );
  const entries = decisions.map((decision, index) => {
    const isTested = tested.get(placeKey(decision.origin));
    const at = placeText(decision.origin, files);
    return entry(decision, index, at, uses.get(index) ?? 0, isTested);
  });
  return html`<section id="rules" aria-labelledby="rules-title">
<h2 id="rules-title">Deciding rules</h2>
<p>The decisions behind the cells above. Requests were executed on the compiled rules.</p>
<ul class="entries">${entries}</ul>
</section>`;
}

function entry(
  { outcome, policy, reason, when, example }: CellDecision,
  index: number,
  at: string,
  uses: number,
  isTested: boolean | undefined,
): Html {
  const condition = when === undefined ? html`` : html`<dt>when</dt><dd class="code">${when}</dd>`;
  const [first] = example;
  const label =
    outcome === "depends" || first === undefined
      ? html`<dt>executed</dt>`
      : html`<dt data-executed="${resultOf(first)}">executed</dt>`;
  const executed =
    example.length === 0
      ? html`<dt>executed</dt><dd>no request: it depends on parts that only a running gateway knows</dd>`
      : html`${label}${example.map((each) => html`<dd class="code">${each.request}: ${resultOf(each)}</dd>`)}`;
  const test =
    isTested === undefined
      ? html``
      : html`<dt>tested</dt><dd>${isTested ? "yes" : "no test reaches it"}</dd>`;
  return html`<li class="entry" id="rule-${index}"><p><span class="tag ${outcome}">${outcome}</span> <code class="rule">${policy === undefined ? "" : `${policy}: `}${reason}</code> <small>${uses} ${uses === 1 ? "cell" : "cells"}</small></p>
<dl><dt>at</dt><dd class="code">${at}</dd>${condition}${executed}${test}</dl></li>
`;
}

function resultOf({ isAllowed }: { readonly isAllowed: boolean }): string {
  return isAllowed ? "allowed" : "refused";
}
