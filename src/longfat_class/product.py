"""The declaration of the product: `longfat grade`, and extensions of three commands."""

from longfat.common.products import Command, Product

PRODUCT = Product(
    commands={
        "grade": Command(module="longfat_class.cli.grade", after="reproduce"),
        "labs": Command(module="longfat_class.cli.labs"),
        "schema": Command(module="longfat_class.cli.schema"),
        "studio": Command(module="longfat_class.cli.studio"),
    },
)
