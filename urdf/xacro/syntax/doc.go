// Package syntax takes the texts of xacro apart: the ${…} and $(…) in a text, the
// parameters of a macro, and the words that are numbers or truths.
//
// It knows nothing of documents and scopes.
package syntax
