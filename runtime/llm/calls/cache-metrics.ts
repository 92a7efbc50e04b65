import type { Sample } from "../../metrics/family.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { cacheRequests, cacheSaved } from "../../metrics/table/models.ts";

/** Counts hits and misses of the caches of routes. */
export class CacheMetrics {
  readonly #metrics: Metrics;
  readonly #routes = new Map<string, RouteSamples>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** `saved`: costs of the response when it was made, in US dollars. `isSimilar`: whether it is that to a similar request. */
  hit(route: string, saved: number, isSimilar: boolean): void {
    const samples = this.#of(route);
    if (isSimilar) this.#metrics.counter(cacheRequests, route, "similar").value += 1;
    else samples.hits.value += 1;
    samples.saved.value += saved;
  }

  miss(route: string): void {
    this.#of(route).misses.value += 1;
  }

  #of(route: string): RouteSamples {
    let samples = this.#routes.get(route);
    if (samples === undefined) {
      samples = {
        hits: this.#metrics.counter(cacheRequests, route, "hit"),
        misses: this.#metrics.counter(cacheRequests, route, "miss"),
        saved: this.#metrics.counter(cacheSaved, route),
      };
      this.#routes.set(route, samples);
    }
    return samples;
  }
}

interface RouteSamples {
  readonly hits: Sample;
  readonly misses: Sample;
  readonly saved: Sample;
}
