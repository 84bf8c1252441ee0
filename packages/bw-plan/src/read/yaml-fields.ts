import { isMap, parseDocument } from 'yaml'

/** Longest text that is parsed to tell, in characters; a longer one goes by its first line. */
const maxParsed = 16 * 1024

/** The fields that make front matter a plan; where one stands, a fault in the text is one of front matter. */
export const planFields = /^(?:todos|work_package_id|owned_files)\s*:/m

/** True for YAML that is a mapping. */
export function isFieldsOfYaml(text: string): boolean {
  if (planFields.test(text)) return true
  if (text.length > maxParsed) return /^\s*(?:#[^\n]*\n\s*)*[\w-]+:(?:\s|$)/.test(text)
  const { contents, errors } = parseDocument(text, { logLevel: 'silent', uniqueKeys: false })
  return errors.length === 0 && isMap(contents)
}
