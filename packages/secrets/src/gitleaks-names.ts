/** Rule names of gitleaks 8.30 (config/gitleaks.toml) for ours, so that a project's `.gitleaksignore` lines keep their sense. */
const names: Readonly<Record<string, string>> = {
  'aws-access-token': 'aws-access-key',
  'gcp-api-key': 'google-api-key',
  'generic-api-key': 'assigned-secret',
  'curl-auth-user': 'command-line-password',
  'curl-auth-header': 'bearer-token',
  'github-pat': 'github-token',
  'github-oauth': 'github-token',
  'github-app-token': 'github-token',
  'github-refresh-token': 'github-token',
  'github-fine-grained-pat': 'github-fine-grained-token',
  'gitlab-pat': 'gitlab-token',
  'huggingface-access-token': 'huggingface-token',
  jwt: 'json-web-token',
  'kubernetes-secret-yaml': 'assigned-secret',
  'npm-access-token': 'npm-token',
  'openai-api-key': 'openai-key',
  'pypi-upload-token': 'pypi-token',
  'rubygems-api-token': 'rubygems-key',
  'sendgrid-api-token': 'sendgrid-key',
  'slack-bot-token': 'slack-token',
  'slack-user-token': 'slack-token',
  'slack-webhook-url': 'slack-webhook',
  'stripe-access-token': 'stripe-key',
  'twilio-api-key': 'twilio-key',
}

/** True when a rule name written by a person means our rule. */
export function isSameRule(written: string, rule: string): boolean {
  return written === rule || names[written] === rule
}
