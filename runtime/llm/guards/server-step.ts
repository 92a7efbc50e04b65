import type { JsonObject } from "../../cel/variables.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { TextFormat } from "../chat/texts.ts";
import type { TextPart } from "../chat/whole-texts.ts";
import { GatheredTexts, GivenTexts } from "./gathered-texts.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep, StreamStage, TextMap } from "./prompt-guard.ts";
import { guardTexts, type TextGuard } from "./server-guard.ts";
import { ServerStage } from "./server-stage.ts";

/** A guard with a server, as a step of its own. */
export class ServerGuardStep implements GuardStep {
  readonly guards: readonly [TextGuard];

  constructor(guard: TextGuard) {
    this.guards = [guard];
  }

  async guardObject(object: JsonObject, map: TextMap, run: GuardRun): Promise<JsonObject> {
    const [guard] = this.guards;
    const scope = run.phase === "request" ? guard.scope : OF_RESPONSES;
    const gathered = new GatheredTexts(scope);
    map(object, gathered);
    const texts = await guardTexts(guard, gathered.texts, run);
    if (texts === undefined) return object;
    return map(object, new GivenTexts(scope, texts));
  }

  openStage(format: TextFormat, run: GuardRun, next: (step: StreamStep) => void): StreamStage {
    const [guard] = this.guards;
    return new ServerStage({ guard, format, run, next });
  }
}

/** Parts that a response repeats from its request are not the model's. */
const OF_RESPONSES: readonly TextPart[] = ["messages", "toolInput", "toolOutput"];
