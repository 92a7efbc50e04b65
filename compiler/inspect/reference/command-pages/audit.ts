import { auditMessages } from "../../../diagnostics/messages/audit.ts";
import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc audit`. */
export function auditPage(): Page {
  return {
    title: "gwc audit: what is open, weak or does nothing",
    parts: [
      paragraph(
        "`gwc check` says what is a mistake. `gwc audit` repeats its warnings and adds what is allowed and rarely meant. Each " +
          "finding stands at its line, and `gwc explain CODE` says why it matters and what to write instead.",
      ),
      ...table(
        ["code", "level", "what it says"],
        Object.entries(auditMessages).map(([code, { severity, explanation }]) => [
          `\`${code}\``,
          severity,
          `${explanation.split(". ")[0]}.`.replace(/\.\.$/, "."),
        ]),
      ),
      paragraph(
        "Whether a rule ever decides is worked out over all requests, as `gwc diff` works out who may do what; a rule that " +
          "can't be solved, or not with the steps that a question may take, is never said to be dead.",
      ),
      heading("A baseline"),
      paragraph(
        "A finding that is as it should be is accepted in `.gwc-audit.yaml`, with the reason. `gwc audit --write-baseline` " +
          "prints one with all that is found; what is accepted and not found any more is told, so that the file stays short.",
      ),
      { kind: "example", language: "yaml", text: BASELINE },
      paragraph(
        "The exit code is 1 when a warning is not accepted; notes never fail. `--format sarif`, `github`, `junit` and `json` " +
          "are those of `gwc check`.",
      ),
    ],
  };
}

const BASELINE = `accepted:
  - code: open-backend
    message: the route "playground" lets everybody use the tools of its MCP servers
    reason: a public demonstration, which knows nothing`;
