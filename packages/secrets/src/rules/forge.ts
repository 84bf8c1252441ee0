/** Forges, package registries and continuous integration. */
import { hasChecksum } from '../checksum.ts'
import { isRandom } from '../judge.ts'
import { named, type Rule, token } from './rule.ts'

const word = 'A-Za-z0-9_\\-'

/** GitHub and npm end a token with a checksum: a match is certain, a mismatch is most likely made up. */
const judgeChecksum: Rule['judge'] = (secret, { shown }) => {
  const body = secret.slice(shown.length)
  if (!isRandom(body)) return null
  return hasChecksum(body) ? 'verified' : 'heuristic'
}

export const forgeRules: readonly Rule[] = [
  token('github-token', 'ghp_|gho_|ghu_|ghs_|ghr_', '[A-Za-z0-9]{36}', 'ghp_<crc30>|ghs_<crc30>|gho_<n36>', {
    judge: judgeChecksum,
  }),
  token('github-fine-grained-token', 'github_pat_', '[A-Za-z0-9]{22}_[A-Za-z0-9]{59}', 'github_pat_<n22>_<n59>'),
  token(
    'gitlab-token',
    'glpat-|gldt-|glrt-|glft-|glsoat-|glcbt-|glptt-|glimt-|glagent-|glffct-|gloas-|glrtr-|glwt-',
    `[${word}]{20,64}(?:\\.[0-9a-z]{2}\\.[0-9a-z]{9})?`,
    'glpat-<w20>|glpat-<w27>.01.<a9>|glrt-<w20>|gldt-<w20>|glptt-<h40>',
    { alphabet: word },
  ),
  token('gitlab-runner-registration-token', 'GR1348941', `[${word}]{20}`, 'GR1348941<w20>', { alphabet: word }),
  token('bitbucket-app-password', 'ATBB', '[A-Za-z0-9]{24}[0-9A-F]{8}', 'ATBB<n24><H8>', { bounded: true }),
  token('atlassian-token', 'ATATT3|ATCTT3', `[A-Za-z0-9_=-]{60,220}=[0-9A-F]{8}`, 'ATATT3<w186>=<H8>', {
    alphabet: word,
  }),
  token('trello-token', 'ATTA', '[0-9a-f]{64,72}', 'ATTA<h64>', { bounded: true }),
  token('circleci-token', 'CCIPAT_|CCIPRJ_', '[A-Za-z0-9]{20,24}_[0-9a-f]{40}', 'CCIPAT_<n22>_<h40>'),
  token('buildkite-token', 'bkua_', '[a-z0-9]{40}', 'bkua_<a40>'),
  token('npm-token', 'npm_', '[A-Za-z0-9]{36}', 'npm_<crc30>', { judge: judgeChecksum }),
  token('pypi-token', 'pypi-AgEI', `[${word}]{50,1000}`, 'pypi-AgEIcHlwaS5vcmc<w120>', { alphabet: word }),
  token('rubygems-key', 'rubygems_', '[0-9a-f]{48}', 'rubygems_<h48>'),
  token('crates-io-token', 'cio', '[A-Za-z0-9]{32}', 'cio<n32>', { bounded: true }),
  token('nuget-key', 'oy2', '[a-z0-9]{43}', 'oy2<a43>', { bounded: true }),
  token('docker-hub-token', 'dckr_pat_|dckr_oat_', `[${word}]{27,32}`, 'dckr_pat_<w27>|dckr_oat_<w32>', {
    alphabet: word,
  }),
  token('jfrog-key', 'AKCp', '[A-Za-z0-9]{69}', 'AKCp<n69>', { bounded: true }),
  token('jfrog-reference-token', 'cmVmdGtu', '[A-Za-z0-9]{56}', 'cmVmdGtu<n56>', { bounded: true }),
  token('clojars-token', 'CLOJARS_', '[a-z0-9]{60}', 'CLOJARS_<a60>'),
  token('sonarqube-token', 'squ_|sqp_|sqa_', '[0-9a-f]{40}', 'squ_<h40>|sqp_<h40>', { bounded: true }),
  token('deno-token', 'ddp_|ddo_', '[A-Za-z0-9]{36}', 'ddp_<n36>', { bounded: true }),
  token('chromatic-token', 'chpt_', '[0-9a-f]{12,15}', 'chpt_<h15>', { bounded: true }),
  token('sourcegraph-token', 'sgp_', '(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}', 'sgp_<h16>_<h40>|sgp_<h40>', {
    bounded: true,
  }),
  token('prefect-key', 'pnu_', '[A-Za-z0-9]{36}', 'pnu_<n36>', { bounded: true }),
  token('harness-token', 'pat.', `[${word}]{22}\\.[0-9a-f]{24}\\.[A-Za-z0-9]{20}`, 'pat.<n22>.<h24>.<n20>', {
    bounded: true,
  }),
  token('octopus-deploy-key', 'API-', '[A-Z0-9]{26}', 'API-<A26>', { bounded: true }),
  token('readme-key', 'rdme_', '[a-z0-9]{70}', 'rdme_<a70>', { bounded: true }),
  token('postman-key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}', 'PMAK-<h24>-<h34>'),
  named('snyk-token', 'snyk', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'SNYK_TOKEN=<uuid>'),
  named('codecov-token', 'codecov', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'CODECOV_TOKEN=<uuid>'),
  named('travis-token', 'travis', '[A-Za-z0-9_-]{22}', 'TRAVIS_TOKEN=<n22>'),
  named('azure-devops-legacy-token', 'azure_devops|azdo|devops_pat|vsts', '[a-z2-7]{52}', 'AZURE_DEVOPS_PAT=<t52>'),
  named('gitea-token', 'gitea|forgejo|codeberg', '[0-9a-f]{40}', 'GITEA_TOKEN=<h40>'),
]
