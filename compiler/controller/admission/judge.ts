import { threadModule } from "../../installation.ts";
import { BackgroundThread } from "../model/background-thread.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import { isForUs } from "./belonging.ts";
import { FairTurns } from "./fair-turns.ts";
import type { JudgedObject, Judgement, NamedObject } from "./judgement.ts";

/** Objects that wait for their turn at most: more are left to the API server's failure policy. */
const MAX_WAITING = 100;

/** Judges objects one after the other, those of callers in turn, in a thread of its own: what takes too long holds up nothing else. */
export class Judge {
  readonly #objects: WatchedObjects;
  readonly #thread = new BackgroundThread<JudgedObject, Judgement>(
    threadModule("controller/admission/judge-worker"),
  );
  readonly #turns = new FairTurns(MAX_WAITING);

  constructor(objects: WatchedObjects) {
    this.#objects = objects;
  }

  /**
   * Judges an object; returns nothing if it belongs to another controller. Rejects if there is no result within some
   * milliseconds.
   */
  async judgement(
    judged: JudgedObject,
    time: number,
    caller: string,
  ): Promise<Judgement | undefined> {
    if (!isForUs(judged.object, this.#objects)) return undefined;
    const deadline = performance.now() + time;
    const judgement = await this.#turns.take(caller, () => this.#judged(judged, deadline));
    return { ...judgement, warnings: [...judgement.warnings, ...this.#missing(judgement)] };
  }

  stop(): void {
    this.#thread.stop();
  }

  async #judged(judged: JudgedObject, deadline: number): Promise<Judgement> {
    const left = deadline - performance.now();
    if (left <= 0) throw new Error("it was not judged in time");
    const timer = setTimeout(() => this.#thread.stop(), left);
    try {
      return await this.#thread.ask(judged);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Missing references: the objects may come later, so they are reported as warnings. */
  #missing({ references }: Judgement): readonly string[] {
    return references
      .filter((each) => !this.#isThere(each))
      .map(({ kind, key }) => `there is no ${kind} "${key}" yet`);
  }

  #isThere({ kind, key }: NamedObject): boolean {
    const names = [kind, ...(OTHER_NAMES[kind] ?? [])];
    return names.some((each) => this.#objects.find(each, key) !== undefined);
  }
}

/** Kinds that the API server has under other names, too. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  ListenerSet: ["XListenerSet"],
  GatewayBackend: ["AgentgatewayBackend"],
  GatewayPolicy: ["AgentgatewayPolicy"],
  GatewayParameters: ["AgentgatewayParameters"],
};
