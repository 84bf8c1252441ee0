/** The labels that every container and volume of ours carries. Clean-up goes by these, never by name or pid. */
export const labels = {
  run: 'dev.buildwave.run',
  item: 'dev.buildwave.item',
  attempt: 'dev.buildwave.attempt',
  stage: 'dev.buildwave.stage',
  expires: 'dev.buildwave.expires',
  owner: 'dev.buildwave.owner',
  role: 'dev.buildwave.role',
} as const
