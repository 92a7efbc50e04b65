import { StartupError } from "../process/startup-error.ts";
import { StoreError } from "../store/store.ts";
import type { StorePlace, StoreSource } from "../store/store-source.ts";
import type { PreparedStore, ProcessStore, StoreContext } from "./definition.ts";

/** Milliseconds that a replaced store remains open for the requests in flight. */
const LINGER = 10_000;

/**
 * Makes a store that of a gateway, which opens it when it starts.
 *
 * @example
 * const gateway: Gateway = { ...rest, store: processStore(redisStore({ url: env("REDIS_URL"), prefix: "shop:" })) };
 */
export function processStore(source: StoreSource): ProcessStore {
  return {
    check: (context) => {
      try {
        source.check(placeOf(context));
      } catch (error) {
        throw startupErrorOf(error);
      }
    },
    prepare: (context) => prepare(source, context),
  };
}

async function prepare(source: StoreSource, context: StoreContext): Promise<PreparedStore> {
  const { identity } = source;
  const { store: old } = context;
  if (old !== undefined && context.storeIdentity === identity)
    return { store: old, commit: () => {}, abort: () => {} };
  const next = await source.open(placeOf(context)).catch((error: unknown) => {
    throw startupErrorOf(error);
  });
  return {
    store: next,
    commit: () => {
      context.store = next;
      context.storeIdentity = identity;
      if (old !== undefined) setTimeout(() => void old.close(), LINGER).unref();
    },
    abort: () => void next?.close(),
  };
}

function placeOf({ stateDir, env, metrics, warn }: StoreContext): StorePlace {
  return { stateDir, gateway: env.gateway, metrics, warn };
}

function startupErrorOf(error: unknown): unknown {
  return error instanceof StoreError ? new StartupError(error.message) : error;
}
