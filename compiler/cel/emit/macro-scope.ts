import type { LocalName } from "../../../templates/code/hole.ts";
import { local } from "../../../templates/code/syntax.ts";
import { type EmittedValue, simple } from "./emitted-value.ts";

/** A variable of a macro in emitted code. */
interface EmittedVariable {
  readonly name: string;
  readonly emitted: EmittedValue;
}

/** Macros that enclose the part that is being emitted. */
export class MacroScope {
  #variables: readonly EmittedVariable[] = [];
  #loopDepth = 0;

  /** Number of enclosing loops. */
  get loopDepth(): number {
    return this.#loopDepth;
  }

  /** Returns the innermost variable of a name. */
  variable(name: string): EmittedValue | undefined {
    return this.#variables.findLast((variable) => variable.name === name)?.emitted;
  }

  /** Runs an emitter with an additional variable and its known properties. */
  withVariable<Result>(
    name: string,
    known: Partial<EmittedValue>,
    emit: (parameter: LocalName) => Result,
  ): Result {
    const parameter = local(name);
    const emitted = { ...simple(parameter, "unknown"), ...known, expression: parameter };
    const around = this.#variables;
    this.#variables = [...around, { name, emitted: { ...emitted, isSimple: true } }];
    const result = emit(parameter);
    this.#variables = around;
    return result;
  }

  /** Runs an emitter for the inside of a loop. */
  inLoop<Result>(emit: () => Result): Result {
    this.#loopDepth += 1;
    const result = emit();
    this.#loopDepth -= 1;
    return result;
  }
}
