/** How access lines are written. */
export interface AccessLogSettings {
  readonly format: "text" | "json";
}
