import { type MessageCode, messageOf, messages } from "../../diagnostics/messages/index.ts";
import { type Page, paragraph } from "./page.ts";

/** The codes of all diagnostics, sorted. */
export const diagnosticCodes: readonly MessageCode[] = Object.keys(messages).filter(isCode).sort();

/** The page of a diagnostic; undefined when there is none of that code. */
export function diagnosticPage(name: string): Page | undefined {
  if (!isCode(name)) return undefined;
  const { severity, explanation } = messageOf(name);
  return { title: `${severity}[${name}]`, parts: explanation.split("\n\n").map(paragraph) };
}

/** The pages of all diagnostics by code, behind one that says what they are. */
export function diagnosticPages(): readonly Page[] {
  const introduction: Page = {
    title: "Diagnostics",
    parts: [
      paragraph(
        "What gwc says about a configuration, by its permanent code. An error stops a build, a warning does under " +
          "`--strict`. `gwc explain CODE` prints one of these.",
      ),
    ],
  };
  return [introduction, ...diagnosticCodes.flatMap((code) => diagnosticPage(code) ?? [])];
}

function isCode(name: string): name is MessageCode {
  return Object.hasOwn(messages, name);
}
