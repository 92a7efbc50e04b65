import type { PolicyRefusal } from "../../policy/policy.ts";
import { editableName, validValue } from "./policy-headers.ts";

/** Maximum number of characters in the message of a refusal. */
const MAX_MESSAGE = 65_536;

/**
 * A refusal that a custom policy made with `request.refuse`. It is validated when it is made, so that an error names the line
 * of the policy, and frozen, so that it stays valid.
 */
export class MadeRefusal implements PolicyRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #isMade = true;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError("a refusal has a status from 400 to 599");
    this.status = status;
    this.message = String(message);
    if (this.message.length > MAX_MESSAGE)
      throw new RangeError(`the message of a refusal has more than ${MAX_MESSAGE} characters`);
    const own = Object.entries(headers).map(([name, value]) => [
      refusalHeader(name),
      validValue(name, value),
    ]);
    this.headers = Object.freeze(Object.fromEntries(own));
    Object.freeze(this);
  }

  /** Whether a value is a refusal. Objects that only look like one are not. */
  static isMade(value: unknown): value is MadeRefusal {
    return typeof value === "object" && value !== null && #isMade in value;
  }
}

/** Returns the lower-case name of a header. A proxy asks for credentials in one that others cannot set. */
function refusalHeader(name: string): string {
  const lower = String(name).toLowerCase();
  return lower === "proxy-authenticate" ? lower : editableName(name);
}

/** Headers of a refusal as a flat list, and apart from them the type of a body that is only its message. */
export interface RefusalFields {
  readonly list: readonly string[];
  readonly contentType: string | undefined;
}

/** Returns the headers of a refusal. */
export function refusalFields({ headers }: MadeRefusal): RefusalFields {
  const { "content-type": contentType, ...others } = headers;
  return { list: Object.entries(others).flat(), contentType };
}
