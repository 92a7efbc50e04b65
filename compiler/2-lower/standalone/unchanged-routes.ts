import { serialize } from "node:v8";
import type { Resource, RouteResource } from "../../config/resources.ts";
import { placeKey } from "../../diagnostics/diagnostic.ts";

/** Caches the routes of a file: those that did not change are the same objects, by which later results are cached. */
export class UnchangedRoutes {
  #known: ReadonlyMap<string, CachedRoute> = new Map();

  /** Returns the resources with the known object in place of each route that is equal to it. */
  same(resources: readonly Resource[]): readonly Resource[] {
    const routes = new Map<string, CachedRoute>();
    const found = resources.map((resource) => {
      if (resource.kind !== "route") return resource;
      const content = serialize(resource);
      // A route that several groups of listeners serve has a resource for each of them.
      const key = JSON.stringify([placeKey(resource.origin), resource.way, resource.listeners]);
      const known = this.#known.get(key);
      const route = known?.content.equals(content) === true ? known.route : resource;
      routes.set(key, { content, route });
      return route;
    });
    this.#known = routes;
    return found;
  }
}

interface CachedRoute {
  /** Everything that it consists of. */
  readonly content: Buffer;
  readonly route: RouteResource;
}
