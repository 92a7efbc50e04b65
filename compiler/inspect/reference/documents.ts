import { backendPages } from "./backends.ts";
import { commandPages } from "./commands.ts";
import { diagnosticPages } from "./diagnostics.ts";
import { expressionsPage } from "./expressions.ts";
import { markdownDocument } from "./markdown.ts";
import { erasPage } from "./mcp-eras.ts";
import { metricsPage } from "./metrics.ts";
import { policyPages } from "./policies.ts";

/** A document of the reference: its file's name, and its Markdown. */
export interface ReferenceDocument {
  readonly file: string;
  readonly text: string;
}

/** The reference as documents: the same pages that `gwc explain` prints. */
export function referenceDocuments(): readonly ReferenceDocument[] {
  return [
    { file: "policies.md", text: markdownDocument(policyPages()) },
    { file: "backends.md", text: markdownDocument(backendPages()) },
    { file: "expressions.md", text: markdownDocument([expressionsPage()]) },
    { file: "mcp-eras.md", text: markdownDocument([erasPage()]) },
    { file: "metrics.md", text: markdownDocument([metricsPage()]) },
    { file: "reviews.md", text: markdownDocument(commandPages.map(([, page]) => page())) },
    { file: "diagnostics.md", text: markdownDocument(diagnosticPages()) },
  ];
}
