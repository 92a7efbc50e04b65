import { isJsonObject } from "../../json/json-object.ts";
import { callServer } from "./call-server.ts";
import type { GuardStep } from "./prompt-guard.ts";
import type { ServerGuardSettings } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** A moderation model that checks texts. */
export interface ModerationSettings extends ServerGuardSettings {
  readonly model: string;
}

/** Checks texts with OpenAI's moderation (`POST /v1/moderations`), and rejects flagged ones. */
export function moderationGuard({ model, ...settings }: ModerationSettings): GuardStep {
  return new ServerGuardStep({
    kind: "openAIModeration",
    ...settings,
    check: async (input) => {
      const { texts } = input;
      const body = { model, input: texts.map(({ text }) => text) };
      const { results } = await callServer(settings, { path: "/v1/moderations", body }, input);
      if (!Array.isArray(results) || results.length !== texts.length) throw new Error("no results");
      const isFlagged = results.map((each) => isJsonObject(each) && each.flagged);
      if (isFlagged.some((each) => typeof each !== "boolean")) throw new Error("no results");
      return { kind: isFlagged.includes(true) ? "reject" : "pass" };
    },
  });
}
