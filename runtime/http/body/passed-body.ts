import type { BodySink, BodySource } from "./body.ts";

/** A body that is passed on unchanged. Subclasses add to that. */
export class PassedBody implements BodySource, BodySink {
  protected readonly source: BodySource;
  protected sink: BodySink | undefined;

  constructor(source: BodySource) {
    this.source = source;
  }

  get length(): number | undefined {
    return this.source.length;
  }

  get trailers(): readonly string[] | undefined {
    return this.source.trailers;
  }

  flow(sink: BodySink): void {
    this.sink = sink;
    this.source.flow(this);
  }

  pause(): void {
    this.source.pause();
  }

  resume(): void {
    this.source.resume();
  }

  discard(): void {
    this.source.discard();
  }

  onData(chunk: Buffer): void {
    this.sink?.onData(chunk);
  }

  onEnd(): void {
    this.sink?.onEnd();
  }

  onAbort(): void {
    this.sink?.onAbort();
  }
}
