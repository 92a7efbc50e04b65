/** What a request asks, and whom. */
export interface RequestLine {
  readonly method: string;
  /** In origin form. */
  readonly target: string;
  /** Host or `:authority`, lower case, with its port when it has one. */
  readonly host: string;
  readonly scheme: "http" | "https";
}

/** That of a request as it was sent. */
export interface SentRequestLine extends RequestLine {
  /** The target without its query. */
  readonly path: string;
}

/** What is undefined stays. */
export type RequestLineChanges = {
  readonly [Part in keyof RequestLine]?: RequestLine[Part] | undefined;
};
