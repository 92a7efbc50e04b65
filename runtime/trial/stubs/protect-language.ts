/** Replaces policies/custom/protect-language.ts: a trial runs in a process that is no gateway. */
export function protectLanguage(): void {}
