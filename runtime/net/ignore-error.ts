/** Listens to the errors of a socket whose end is seen to elsewhere: without a listener they would end the process. */
export function ignoreError(): void {}
