import { isJsonObject } from "../../json/json-object.ts";
import { callServer } from "./call-server.ts";
import type { GuardStep } from "./prompt-guard.ts";
import type { ServerGuardSettings } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** A template that is applied to texts. */
export interface ModelArmorSettings extends ServerGuardSettings {
  readonly template: string;
  readonly project: string;
  readonly location: string;
}

/** Method and body member of each phase. */
const METHODS = {
  request: ["sanitizeUserPrompt", "userPromptData"],
  response: ["sanitizeModelResponse", "modelResponseData"],
} as const;

/** Applies a template of Google Model Armor to the texts, and rejects them if any of its filters matches. */
export function modelArmorGuard({
  template,
  project,
  location,
  ...settings
}: ModelArmorSettings): GuardStep {
  const names = { projects: project, locations: location, templates: template };
  const path = Object.entries(names)
    .map(([kind, name]) => `/${kind}/${encodeURIComponent(name)}`)
    .join("");
  return new ServerGuardStep({
    kind: "googleModelArmor",
    ...settings,
    check: async (input) => {
      const {
        texts,
        run: { phase },
      } = input;
      const [method, member] = METHODS[phase];
      const body = { [member]: { text: texts.map(({ text }) => text).join("\n") } };
      const request = { path: `/v1${path}:${method}`, body };
      const { sanitizationResult: result } = await callServer(settings, request, input);
      const state = isJsonObject(result) ? result.filterMatchState : undefined;
      if (state !== "MATCH_FOUND" && state !== "NO_MATCH_FOUND") throw new Error("no result");
      return { kind: state === "MATCH_FOUND" || hasMatch(result) ? "reject" : "pass" };
    },
  });
}

/** Filters are a map or a list, and may be nested. */
function hasMatch(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMatch);
  if (!isJsonObject(value)) return false;
  return value.matchState === "MATCH_FOUND" || Object.values(value).some(hasMatch);
}
