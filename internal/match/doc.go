// Package match tells the operations of package ops apart for rules of rewriting, drawings and
// translations to other engines, and takes nodes apart that have a form that these look for. An operation from
// outside the library matches nothing by its name.
package match
