export * from './client.ts'
export type * from './rules.ts'
