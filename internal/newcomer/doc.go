// Package newcomer tests what somebody meets who has Go, the README and nothing else: the
// programs, commands and tutorial of the documentation run in empty folders against a
// published version of this module. That version is made from the checkout and served, with
// the modules it requires, from local files, so the tests need no network.
package newcomer
