export * from './interrupt.ts'
export * from './stage.ts'
export * from './text.ts'
