/** Pattern of Kubernetes byte quantities: an integer or a fraction with a decimal or binary unit. */
export const QUANTITY = "^[0-9]+(\\.[0-9]+)?([kMGT]|[KMGT]i)$";

const UNITS: Readonly<Record<string, number>> = {
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

const quantity = new RegExp(QUANTITY);

/** Whether a string may be a quantity. */
export function isQuantity(text: string): boolean {
  return quantity.test(text);
}

/** Converts a quantity to bytes, rounded down. */
export function bytesOf(text: string): number {
  const unit = text.replace(/^[0-9.]+/, "");
  return Math.floor(Number.parseFloat(text) * (UNITS[unit] ?? Number.NaN));
}
