/** The HTTP status of the engine's refusal; null for any other error. */
export function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null
  return typeof status === 'number' ? status : null
}
