// Judges custom resource definitions and objects as a Kubernetes API server does.
//
// Standard input: one JSON document {"definitions": [CRD...], "objects": [{"kind": K, "object": {...}}...]}.
// Standard output: {"definitions": [[message...]...], "objects": [[message...]...]}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	objects "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	wholenumbers "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type question struct {
	Definitions []v1.CustomResourceDefinition `json:"definitions"`
	Objects     []struct {
		Kind   string          `json:"kind"`
		Object json.RawMessage `json:"object"`
	} `json:"objects"`
}

type answer struct {
	Definitions [][]string `json:"definitions"`
	Objects     [][]string `json:"objects"`
}

type judge struct {
	structural *schema.Structural
	shape      objects.SchemaValidator
	rules      *cel.Validator
}

func main() {
	var asked question
	text, err := io.ReadAll(os.Stdin)
	must(err)
	must(json.Unmarshal(text, &asked))
	found := answer{Definitions: [][]string{}, Objects: [][]string{}}
	judges := map[string]judge{}
	for index := range asked.Definitions {
		kind, messages, own := judgeDefinition(&asked.Definitions[index])
		found.Definitions = append(found.Definitions, messages)
		judges[kind] = own
	}
	for _, each := range asked.Objects {
		own, known := judges[each.Kind]
		if !known {
			must(fmt.Errorf("no definition of %s", each.Kind))
		}
		object := map[string]interface{}{}
		must(wholenumbers.Unmarshal(each.Object, &object))
		found.Objects = append(found.Objects, own.messages(object))
	}
	must(json.NewEncoder(os.Stdout).Encode(found))
}

func judgeDefinition(definition *v1.CustomResourceDefinition) (string, []string, judge) {
	v1.SetDefaults_CustomResourceDefinition(definition)
	v1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
	definition.Status.StoredVersions = []string{definition.Spec.Versions[0].Name}
	var internal apiextensions.CustomResourceDefinition
	must(v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition, &internal, nil))
	messages := texts(definitions.ValidateCustomResourceDefinition(context.Background(), &internal))
	var validation apiextensions.CustomResourceValidation
	must(v1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
		definition.Spec.Versions[0].Schema, &validation, nil))
	structural, err := schema.NewStructural(validation.OpenAPIV3Schema)
	must(err)
	shape, _, err := objects.NewSchemaValidator(validation.OpenAPIV3Schema)
	must(err)
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return definition.Spec.Names.Kind, messages, judge{structural, shape, rules}
}

// messages says what an API server would refuse an object for; a field that it would drop counts too (strict field validation).
func (own judge) messages(object map[string]interface{}) []string {
	found := []string{}
	unknown := pruning.PruneWithOptions(object, own.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		found = append(found, path+": unknown field")
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, own.structural)
	defaulting.Default(object, own.structural)
	errors := objects.ValidateCustomResource(nil, object, own.shape)
	found = append(found, texts(errors)...)
	if len(errors) == 0 && own.rules != nil {
		broken, _ := own.rules.Validate(context.Background(), nil, own.structural, object, nil, celconfig.RuntimeCELCostBudget)
		found = append(found, texts(broken)...)
	}
	return found
}

func texts(errors field.ErrorList) []string {
	found := []string{}
	for _, each := range errors {
		found = append(found, each.Error())
	}
	return found
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
