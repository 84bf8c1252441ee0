export * from './exit.ts'
export * from './records.ts'
export * from './user-error.ts'
