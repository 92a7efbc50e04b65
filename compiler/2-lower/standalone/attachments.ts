import { intersectHostnames } from "../../config/hostnames.ts";
import type { ListenerResource, RouteAttachment } from "../../config/resources.ts";

/**
 * Returns the attachments of a route with these hostnames. Listeners that serve none of them are left out, because a
 * gateway may have listeners for other hostnames; a hostname that none of them serves is reported later.
 */
export function attachmentsTo(
  listeners: readonly ListenerResource[],
  hostnames: readonly string[],
): readonly RouteAttachment[] {
  if (hostnames.length === 0 || listeners.length < 2)
    return listeners.map(({ key }) => ({ listener: key, hostnames }));
  const isServed = (hostname: string, listener: ListenerResource) =>
    intersectHostnames(hostname, listener.hostname) !== undefined;
  const unserved = hostnames.filter((name) => !listeners.some((each) => isServed(name, each)));
  return listeners.flatMap((listener, index) => {
    const own = hostnames.filter(
      (name) => isServed(name, listener) || (index === 0 && unserved.includes(name)),
    );
    return own.length === 0 ? [] : [{ listener: listener.key, hostnames: own }];
  });
}
