// Of the release before this one, or, before there is one, of the code from which on upgrades are promised: the only place
// that names it. To be changed with each release.
export const PREVIOUS_COMMIT = '70b49eef53a0edc81026238548092ad40710c26b';
