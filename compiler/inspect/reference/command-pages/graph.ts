import { type Page, paragraph } from "../page.ts";

/** The page of `gwc graph`. */
export function graphPage(): Page {
  return {
    title: "gwc graph: the picture of a gateway",
    parts: [
      paragraph(
        "Listeners on the left, their routes with matches, policies and the number of rules in the middle, the servers behind " +
          "them on the right. It is made of what `manifest.json` says, so a bundle that runs can be drawn as well.",
      ),
      { kind: "example", language: "sh", text: COMMANDS },
      paragraph(
        "With a second side what is added is green, what is removed red and dashed, and what is set otherwise yellow. Colours " +
          "say where to look; `gwc diff` says what a change does to whom.",
      ),
    ],
  };
}

const COMMANDS = `gwc graph                               # Mermaid, for a document or a comment on GitHub
gwc graph --git main                    # what this branch adds and removes
gwc graph out/gateway/manifest.json --format svg > gateway.svg`;
