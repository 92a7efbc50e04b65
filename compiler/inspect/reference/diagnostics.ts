import { type MessageCode, messageOf, messages } from "../../diagnostics/messages/index.ts";
import { type Page, paragraph } from "./page.ts";

/** Codes of all diagnostics, sorted. */
export const diagnosticCodes: readonly MessageCode[] = Object.keys(messages).filter(isCode).sort();

/** Returns the page of a diagnostic; `undefined` if the code is unknown. */
export function diagnosticPage(name: string): Page | undefined {
  if (!isCode(name)) return undefined;
  const { severity, explanation } = messageOf(name);
  return { title: `${severity}[${name}]`, parts: explanation.split("\n\n").map(paragraph) };
}

/** Returns an introduction and the pages of all diagnostics by code. */
export function diagnosticPages(): readonly Page[] {
  const introduction: Page = {
    title: "Diagnostics",
    parts: [
      paragraph(
        "Messages of gwc about a configuration, by their permanent codes. Errors stop a build; with `--strict` warnings do, too. " +
          "`gwc explain CODE` prints the page of one.",
      ),
    ],
  };
  return [introduction, ...diagnosticCodes.flatMap((code) => diagnosticPage(code) ?? [])];
}

function isCode(name: string): name is MessageCode {
  return Object.hasOwn(messages, name);
}
