export { compareTests, noChanges, withoutFlaky } from './compare.ts'
export { detectRunner, type Found, type Runner, readResults, runnerFiles } from './runner.ts'
